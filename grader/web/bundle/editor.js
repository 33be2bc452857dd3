// The editor of the page: CodeMirror 6 with what writing one Python file needs.

import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState, Prec } from "@codemirror/state";
import {
  EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers, tooltips,
} from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";

/**
 * Make an editor below an element.
 *
 * options: nonce of the page's styles, label for screen readers, phrases of CodeMirror in the reader's language,
 * onChange(), onGrade(), onSave(), bar: what stays in view above the editor.
 */
export function makeEditor(parent, options) {
  const command = (action) => () => { action(); return true; };
  let separator = "\n";

  // Cursor and selection are the browser's own: a drawn cursor blinks by an animation, for which the whole page is drawn
  // sixty times a second, on processors that a grading wants.
  const extensions = () => [
    Prec.highest(keymap.of([
      { key: "Mod-Enter", run: command(options.onGrade) },
      { key: "Mod-s", run: command(options.onSave), preventDefault: true },
    ])),
    EditorView.cspNonce.of(options.nonce),
    EditorState.phrases.of(options.phrases ?? {}),
    EditorState.lineSeparator.of(separator),
    EditorState.tabSize.of(4),
    EditorView.contentAttributes.of({ "aria-label": options.label, spellcheck: "false", autocapitalize: "off" }),
    lineNumbers(), EditorView.lineWrapping, highlightActiveLine(), highlightActiveLineGutter(), history(),
    indentUnit.of("    "), indentOnInput(), bracketMatching(), closeBrackets(), search({ top: true }),
    // What stays above the editor neither covers a line nor is covered: where a line has no room above, it has below.
    EditorView.scrollMargins.of((view) => {
      const bar = options.bar.getBoundingClientRect();
      return { top: Math.min(bar.height, Math.max(0, bar.bottom - view.dom.getBoundingClientRect().top)) };
    }),
    tooltips({ tooltipSpace: (view) => ({
      top: Math.max(options.bar.getBoundingClientRect().bottom, view.dom.getBoundingClientRect().top),
      left: 0, bottom: innerHeight, right: document.documentElement.clientWidth,
    }) }),
    highlightSelectionMatches(), lintGutter(), python(), syntaxHighlighting(classHighlighter),
    keymap.of([
      ...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...lintKeymap, indentWithTab,
    ]),
    EditorView.updateListener.of((update) => { if (update.docChanged) options.onChange(); }),
  ];
  const view = new EditorView({ parent, state: EditorState.create({ doc: "", extensions: extensions() }) });

  return {
    view,
    text: () => view.state.sliceDoc(),
    focus: () => view.focus(),
    /** Show another file: nothing of the one before can be brought back with undo. */
    open(text) {
      separator = text.includes("\r\n") ? "\r\n" : "\n";
      view.setState(EditorState.create({ doc: text, extensions: extensions() }));
    },
    /** Show what another program wrote into the same file; the cursor stays where it is, as far as it can. */
    replace(text) {
      const now = view.state.sliceDoc();
      let start = 0;
      const most = Math.min(now.length, text.length);
      while (start < most && now[start] === text[start]) start += 1;
      let end = 0;
      while (end < most - start && now[now.length - 1 - end] === text[text.length - 1 - end]) end += 1;
      if (now.includes("\r\n") || text.includes("\r\n")) { this.open(text); return; }
      view.dispatch({ changes: { from: start, to: now.length - end, insert: text.slice(start, text.length - end) } });
    },
    /** Show what is wrong on its lines. marks: [{line, severity, title, text}]. */
    mark(marks) {
      const doc = view.state.doc;
      const found = marks.filter((one) => one.line >= 1 && one.line <= doc.lines).map((one) => {
        const line = doc.line(one.line);
        const indent = line.text.length - line.text.trimStart().length;
        const from = line.from + (indent < line.length ? indent : 0);
        return { from, to: line.to, severity: one.severity, source: one.title, message: one.text };
      });
      view.dispatch(setDiagnostics(view.state, found));
    },
    /** Put the cursor on a line. */
    go(number) {
      const line = view.state.doc.line(Math.max(1, Math.min(number, view.state.doc.lines)));
      view.dispatch({ selection: { anchor: line.to }, effects: EditorView.scrollIntoView(line.from, { y: "center" }) });
      view.focus();
    },
    destroy: () => view.destroy(),
  };
}
