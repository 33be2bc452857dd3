// What the page shows first is asked for before the rest of it is loaded.

import { api, Failed } from "./api.js";

const KINDS = ["review", "debug", "mock"];

/** Read what the address names: a kata and its kind, the talk or the mock interview, or nothing. */
export function place() {
  const [name, kind = ""] = location.hash.replace(/^#\/?/, "").split("/");
  return { name, kind: KINDS.includes(kind) ? kind : "", elsewhere: name === "mock" || name === "talk" };
}

/** Ask for the words, the course and what is open; what cannot be opened is asked for, and refused, by itself. */
export async function beginning() {
  const { name, kind, elsewhere } = place();
  try {
    return await api.ask("first", { kata: elsewhere ? "" : name, kind, elsewhere });
  } catch (error) {
    if (!(error instanceof Failed) || error.status === 403 || !name) throw error;
    return api.ask("first", { kata: "", kind: "", elsewhere: true });
  }
}

export const first = api.enter().then(beginning);
first.catch(() => {}); // page.js says it
