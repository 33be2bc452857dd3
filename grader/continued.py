"""A reference that continues the one of an earlier kata: the earlier one before it, as a learner's answer has it."""

from __future__ import annotations

import ast


def behind(earlier: str, later: str, module: str) -> str:
    """Return one file of both: the docstring of `later`, then `earlier` without its own, then the rest of `later`.

    Imports stand once, and that of the earlier kata's names, `from module import ...`, not at all.
    """
    above, below = _Parts(earlier), _Parts(later)
    known = {ast.unparse(node) for node in above.imports}
    new = [node for node in below.imports if ast.unparse(node) not in known and getattr(node, "module", "") != module]
    imports = [above.between(above.docstring, above.last_import), *map(ast.unparse, new)]
    code = "\n".join(above.lines[above.last_import :]).rstrip()
    own = below.between(below.last_import, len(below.lines))
    return "\n".join([f"{below.between(0, below.docstring)}\n", *imports, f"{code}\n\n", f"{own}\n"])


class _Parts:
    """A file, and behind which lines its docstring and its imports end."""

    def __init__(self, text: str) -> None:
        body = ast.parse(text).body
        self.lines = text.splitlines()
        self.imports = [node for node in body if isinstance(node, (ast.Import, ast.ImportFrom))]
        first = body[0] if ast.get_docstring(ast.Module(body, [])) is not None else None
        self.docstring = (first and first.end_lineno) or 0
        self.last_import = max((node.end_lineno or 0 for node in self.imports), default=self.docstring)

    def between(self, begin: int, end: int) -> str:
        return "\n".join(self.lines[begin:end]).strip("\n")
