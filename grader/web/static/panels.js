// Beside the editor: the task, hints, what an interviewer asks, earlier versions, the model answer.

import { api } from "./api.js";
import { filled, h, said, show } from "./dom.js";
import { Talk } from "./talk.js";

export class Panels {
  constructor(answer) {
    this.answer = answer;
    this.words = answer.words;
    const all = ["task", "hints", "talk", "picture", "history", "solution"];
    const names = answer.mock ? ["task"] : all.filter((name) => name !== "picture" || answer.opened.draws);
    this.tabs = new Map(names.map((name) => [name, h("button", {
      role: "tab", id: `tab-${name}`, "aria-controls": "panel", "aria-selected": "false", tabindex: "-1",
      onclick: () => this.open(name), onkeydown: (event) => this.move(event, names),
    }, this.words[name])]));
    this.panel = h("div", { id: "panel", role: "tabpanel", tabindex: "0", class: "panel" });
    this.element = h("div", { class: "side" }, h("div", { role: "tablist", "aria-label": this.words.beside, class: "tablist" }, [...this.tabs.values()]),
      this.panel);
    this.element.prepend(h("div", { class: "tabs" }, this.element.firstChild, h("button", { class: "to-editor", onclick: () => answer.toEditor() }, `↓ ${this.words.to_editor}`)));
    this.open("task");
  }

  move(event, names) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = names[(names.indexOf(this.current) + step + names.length) % names.length];
    this.open(next);
    this.tabs.get(next).focus();
  }

  async open(name) {
    this.current = name;
    for (const [one, tab] of this.tabs) {
      tab.setAttribute("aria-selected", String(one === name));
      tab.tabIndex = one === name ? 0 : -1;
    }
    this.panel.setAttribute("aria-labelledby", `tab-${name}`);
    try {
      await this[name]();
    } catch (error) {
      show(this.panel, h("p", { class: "failed", role: "alert" }, `${error.message} ${error.hint ?? ""}`));
    }
  }

  async task() {
    const { words, answer } = this;
    const brief = filled(h("div", { class: "markdown" }), answer.opened.brief);
    brief.querySelector("h1")?.remove();
    const rules = h("details", {}, h("summary", {}, words.rules), h("div", { class: "markdown" }));
    rules.addEventListener("toggle", async () => {
      if (rules.open && !rules.lastChild.childElementCount) {
        filled(rules.lastChild, (await api.ask("rules")).html);
        rules.lastChild.querySelector("h1")?.remove();
      }
    });
    const { kata } = answer.opened;
    const rounds = answer.mock || answer.name.kind ? null : h("p", { class: "dim rounds" },
      h("a", { href: `#/${kata}/debug` }, words.debug), answer.opened.passed ? [" · ", h("a", { href: `#/${kata}/review` }, words.review)] : null);
    const back = answer.name.kind && !answer.mock ? h("p", { class: "rounds" }, h("a", { href: `#/${kata}` }, said(words.back, { kata }))) : null;
    show(this.panel, brief, rules, rounds, back);
  }

  async hints() {
    const { words } = this;
    const taken = h("div", { class: "markdown" });
    const count = h("p", { class: "dim" });
    const more = h("button", { onclick: () => take() }, words.next_hint);
    const failed = h("p", { class: "failed", role: "alert" });
    const take = async () => {
      failed.textContent = "";
      try {
        const given = await api.ask("hint", this.answer.name);
        taken.append(h("div", {}, given.said ? h("p", { class: "dim" }, given.said) : null, filled(h("div", {}), given.html)));
        count.textContent = given.count;
        this.answer.page.say(taken.lastChild.textContent);
        if (!given.another) { more.disabled = true; count.textContent += ` · ${words.no_hint}`; }
      } catch (error) {
        failed.textContent = `${error.message} ${error.hint ?? ""}`;
      }
    };
    show(this.panel, h("p", {}, words.about_hints), taken, count, failed, more);
  }

  async talk() {
    const talk = new Talk(this.answer.page, this.panel, this.answer.name.kata);
    await talk.begin();
  }

  async picture() {
    const { words, answer } = this;
    const place = h("div", { class: "drawings", role: "status" });
    const draw = async () => {
      try {
        const found = await api.ask("picture", answer.name);
        show(place, found.said ? h("p", {}, found.said) : null,
          found.pictures.map((one) => [h("h2", {}, one.title), filled(h("div", { class: "wide", tabindex: "0" }), one.svg)]));
      } catch (error) {
        show(place, h("p", { class: "failed" }, `${error.message} ${error.hint ?? ""}`));
      }
    };
    show(this.panel, h("p", {}, words.about_picture), h("button", { onclick: draw }, words.draw), place);
  }

  async history() {
    const { words, answer } = this;
    const { versions } = await api.ask("history", answer.name);
    if (!versions.length) { show(this.panel, h("p", {}, words.no_versions)); return; }
    const verdicts = { passed: ["✓", words.passed, "passed"], failed: ["✗", words.failed, "failed"], error: ["!", words.broke, "warn"], "": ["·", words.not_graded, "dim"] };
    const text = h("div", {});
    const rows = versions.map((one) => {
      const [mark, word, style] = verdicts[one.verdict];
      return h("li", {},
        h("button", { class: "link", onclick: () => this.version(one, text) }, said(words.version, { number: one.number })),
        ` ${one.when} `, h("span", { class: style }, `${mark} ${word}`), one.cases ? ` ${one.cases}` : "",
        one.present ? h("strong", {}, ` · ${words.present}`) : null);
    });
    show(this.panel, h("ul", { class: "versions" }, rows), text);
  }

  async version(one, place) {
    const { words, answer } = this;
    const found = await api.ask("version", { ...answer.name, number: one.number });
    const restore = async () => {
      if (answer.dirty) await answer.save(false); // nothing that was typed is lost
      if (answer.dirty) return;
      await api.ask("restore", { ...answer.name, number: one.number });
      await this.open("history");
    };
    show(place, h("h2", {}, said(words.version, { number: one.number })),
      one.present && !answer.dirty ? null : h("button", { onclick: () => restore().catch((error) => answer.failed(error)) }, words.restore),
      h("pre", { tabindex: "0" }, found.text));
    place.querySelector("button, pre").focus();
  }

  async solution(giveUp = false) {
    const { words, answer } = this;
    try {
      const found = await api.ask("solution", { ...answer.name, give_up: giveUp });
      show(this.panel, found.html ? filled(h("div", { class: "markdown" }), found.html) : null, h("pre", { tabindex: "0", class: "code" }, found.code));
    } catch (error) {
      if (giveUp || !["NotPassedYet", "NotRepairedYet"].includes(error.kind)) throw error;
      show(this.panel, h("p", {}, error.message), h("p", { class: "dim" }, words.about_giving_up),
        h("button", { onclick: () => this.solution(true).catch((again) => answer.failed(again)) }, words.give_up));
    }
  }
}
