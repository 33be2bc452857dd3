"""Pieces of a page of HTML that loads and runs nothing. What goes into them is text: it is cleaned and escaped here."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from html import escape
from typing import Final

from grader.text import clean

MOST_TEXT: Final = 20_000
POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
LIGHT: Final = """--ink: #1c1f24; --dim: #5a616b; --paper: #fff; --card: #f4f5f7; --edge: #d5d9df;
  --good: #1a6b34; --bad: #b3261e; --warn: #7a5200; --code: #0b5394; --mark: #fff0c2;"""
DARK: Final = """--ink: #e6e8eb; --dim: #a4abb5; --paper: #16181c; --card: #20242a; --edge: #3a4049;
  --good: #7bd88f; --bad: #ff8a80; --warn: #f0c060; --code: #8ab8f0; --mark: #4a3d10;"""
SHADES: Final = 5
SHADED: Final = "\n".join(
    f".kata td.shade{n} {{ background: color-mix(in srgb, var(--code) {9 * n}%, var(--paper)); }}"
    for n in range(1, SHADES + 1)
)
"""Of a number by its size: never so dark that the number on it is hard to read."""
MONO: Final = "ui-monospace, Menlo, Consolas, DejaVu Sans Mono, monospace"
"""Drawings need one whose lines are as wide as its letters, which the browser's own choice for Chinese is not."""
STYLE: Final = f"""
.kata {{ color-scheme: light dark; {LIGHT}
  background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }}
@media (prefers-color-scheme: dark) {{ .kata {{ {DARK} }} }}
[data-jp-theme-light="true"] .kata, .vscode-light .kata {{ color-scheme: light; {LIGHT} }}
[data-jp-theme-light="false"] .kata, .vscode-dark .kata {{ color-scheme: dark; {DARK} }}
body.kata {{ margin: 0; }}
.kata * {{ box-sizing: border-box; }}
.kata main {{ max-width: 52rem; margin: 0 auto; padding: 1rem; }}
.kata h1 {{ font-size: 1.4rem; }}
.kata h2 {{ font-size: 1.1rem; margin: 0 0 .3rem; }}
.kata p {{ margin: .3rem 0; }}
.kata .passed {{ color: var(--good); }}
.kata .failed {{ color: var(--bad); }}
.kata .error, .kata .warn {{ color: var(--warn); }}
.kata .dim {{ color: var(--dim); }}
.kata .where {{ color: var(--code); font-family: {MONO}; }}
.kata code, .kata .call {{ font: .9em/1.45 {MONO}; }}
.kata .push {{ font-weight: 600; }}
.kata ul.families {{ display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; margin: 0; padding: 0; list-style: none; }}
.kata section {{ background: var(--card); border: 1px solid var(--edge); border-radius: .4rem; padding: .8rem;
  margin: .8rem 0; }}
.kata pre {{ background: var(--card); color: inherit; border: 1px solid var(--edge); border-radius: .3rem;
  padding: .5rem; margin: .4rem 0; font: .85rem/1.45 {MONO}; overflow-x: auto; overflow-wrap: normal; }}
.kata section pre {{ background: var(--paper); }}
.kata .pictures {{ display: flex; flex-wrap: wrap; gap: .4rem 1.6rem; margin: .5rem 0; overflow-x: auto; }}
.kata table.numbers {{ border-collapse: separate; border-spacing: 2px; font: .85rem/1.4 {MONO}; }}
.kata table.numbers caption {{ text-align: left; color: var(--dim); padding-bottom: .1rem; }}
.kata table.numbers td {{ padding: .1rem .5rem; text-align: right; border-radius: .2rem;
  border: 1px solid transparent; white-space: nowrap; }}
.kata table.numbers td.off {{ border-color: var(--bad); }}
{SHADED}
.kata mark {{ background: var(--mark); color: inherit; }}
.kata summary {{ cursor: pointer; padding: .3rem 0; }}
"""
"""Everything is below `.kata`, so that a page may stand within another one: a notebook, whose theme it follows."""


def document(lang: str, title: str, body: Iterable[str]) -> str:
    """Return a whole page; ``body`` are pieces."""
    return f"""<!doctype html>
<html lang="{text(lang)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>{text(title)}</title>
<style>{STYLE}</style>
</head>
<body class="kata">
<main>
{together(body)}
</main>
</body>
</html>
"""


def fragment(lang: str, body: Iterable[str]) -> str:
    """Return a page that stands within another one."""
    inner = f"<main>\n{together(body)}\n</main>"
    return f'<div class="kata" lang="{text(lang)}">\n<style>{STYLE}</style>\n{inner}\n</div>'


def heading(mark: str, sentence: str, style: str, level: int = 1) -> str:
    """Return the head of a page, or of a part of one; the mark is for eyes."""
    return f'<h{level} class="{style}"><span aria-hidden="true">{text(mark)}</span> {text(sentence)}</h{level}>'


def paragraph(sentence: str, style: str = "") -> str:
    """Return a paragraph, nothing for an empty one."""
    kind = f' class="{style}"' if style else ""
    # Escaped first: what stands between the backticks is text all the same.
    said = re.sub(r"`([^`\n]+)`", r"<code>\1</code>", text(sentence))
    return f"<p{kind}>{said}</p>" if sentence.strip() else ""


def block(code: str) -> str:
    """Return code or output as it is, nothing for an empty one."""
    return f"<pre>{text(code)}</pre>" if code.strip() else ""


def counts(items: Iterable[tuple[str, str, str, str]]) -> str:
    """Return a list of names with a mark, its style and a number."""
    shown = [
        f'<li><span class="{style}">{mark}</span> {text(name)} <span class="dim">{text(count)}</span></li>'
        for mark, style, name, count in items
    ]
    return f'<ul class="families">{"".join(shown)}</ul>' if shown else ""


def section(title: str, pieces: Iterable[str], level: int = 2) -> str:
    """Return a card with a title."""
    return f"<section>\n<h{level}>{text(title)}</h{level}>\n{together(pieces)}\n</section>"


def numbers(name: str, rows: Iterable[Iterable[tuple[str, int, bool]]]) -> str:
    """Return numbers in a table: each as it is written, with its shade from 0 to 5, and whether it is wrong."""
    body = "".join(f"<tr>{''.join(_cell(*cell) for cell in row)}</tr>" for row in rows)
    return f'<table class="numbers"><caption>{text(name)}</caption><tbody>{body}</tbody></table>'


def _cell(number: str, shade: int, wrong: bool) -> str:
    names = " ".join(filter(None, (f"shade{shade}" if shade else "", "off" if wrong else "")))
    kind = f' class="{names}"' if names else ""
    shown = f"<strong>{text(number)}</strong>" if wrong else text(number)
    return f"<td{kind}>{shown}</td>"


def side_by_side(pieces: Iterable[str]) -> str:
    """Return pieces beside each other where there is room, below each other where there is none."""
    return f'<div class="pictures">{together(pieces)}</div>'


def entry(family: str, title: str, where: str) -> str:
    """Return a line about a case."""
    place = f' <span class="where">{text(where)}</span>' if where else ""
    return f'<p><span class="failed">{text(family)}</span> {text(title)}{place}</p>'


def folded(title: str, pieces: Iterable[str]) -> str:
    """Return what is unfolded by a click."""
    return f"<details>\n<summary>{text(title)}</summary>\n{together(pieces)}\n</details>"


def numbered(source: str, marked: Collection[int]) -> str:
    """Return a file with the numbers of its lines, some of them marked."""
    lines = []
    for number, line in enumerate(source.splitlines(), 1):
        shown = f"{number:4}  {text(line)}"
        lines.append(f"<mark>{shown}</mark>" if number in marked else shown)
    return "<pre>" + "\n".join(lines) + "</pre>"


def together(pieces: Iterable[str]) -> str:
    """Return pieces below each other."""
    return "\n".join(filter(None, pieces))


def text(sentence: str) -> str:
    """Return a text that no browser reads as anything else."""
    return escape(clean(sentence, MOST_TEXT))
