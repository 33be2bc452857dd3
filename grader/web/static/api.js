// Asking the server: the key in a header of every request, JSON, nothing else. No cookies: they would be sent for anybody.

const KEY = "kata.key";
const LANG = "kata.lang";

export class Failed extends Error {
  constructor(document, status) {
    super(document.error || "");
    this.hint = document.hint || "";
    this.kind = document.kind || "";
    this.status = status;
  }
}

export const api = {
  key: null,
  lang: "en",
  /** Told whether the server answers. */
  onConnection: () => {},

  /** Take the key out of the address, so that nobody reads it there, and keep it as long as this tab lives. */
  async enter() {
    const given = new URLSearchParams(location.hash.slice(1));
    this.key = sessionStorage.getItem(KEY);
    this.lang = given.get("lang") || sessionStorage.getItem(LANG) || "en";
    if (given.has("key")) this.key = given.get("key");
    if (given.has("key") || given.has("code")) history.replaceState(null, "", "/");
    if (given.has("code")) this.key = (await this.send("enter", {}, given.get("code"))).key;
    if (this.key) sessionStorage.setItem(KEY, this.key);
    this.speak(this.lang);
  },

  speak(lang) {
    this.lang = lang;
    sessionStorage.setItem(LANG, lang);
    document.documentElement.lang = lang === "zh" ? "zh-Hans" : "en";
  },

  /** Ask; throws Failed with a sentence, or TypeError where nobody answers. */
  async send(name, body, key = this.key, signal = undefined) {
    const response = await fetch(`/api/${name}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Kata-Key": key || "" },
      body: JSON.stringify({ ...body, lang: this.lang }),
      credentials: "omit",
      signal,
    });
    const document = await response.json();
    if (!response.ok) throw new Failed(document, response.status);
    return document;
  },

  async ask(name, body = {}) {
    try {
      const found = await this.send(name, body);
      this.onConnection(true);
      return found;
    } catch (error) {
      this.onConnection(error instanceof Failed);
      throw error;
    }
  },
};

/** Wait for news of an answer for as long as somebody looks at this tab. */
export class Waiting {
  constructor(name, after, tell) {
    this.name = name;
    this.tell = tell;
    this.after = after;
    this.over = false;
    this.stop = new AbortController();
    this.run();
  }

  close() {
    this.over = true;
    this.stop.abort();
  }

  async run() {
    let pause = 250;
    while (!this.over) {
      // A browser opens six connections: tabs that nobody sees must not hold them.
      if (document.hidden) {
        await new Promise((seen) => document.addEventListener("visibilitychange", seen, { once: true }));
        continue;
      }
      try {
        const found = await api.send("wait", { ...this.name, after: this.after }, api.key, this.stop.signal);
        api.onConnection(true);
        pause = 250;
        if (!this.over && found.number) {
          this.after = found.number;
          this.tell(found);
        }
      } catch (error) {
        if (this.over) return;
        api.onConnection(error instanceof Failed, error);
        await new Promise((again) => setTimeout(again, pause));
        pause = Math.min(2 * pause, 4000);
      }
    }
  }
}
