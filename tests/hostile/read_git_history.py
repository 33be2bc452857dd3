# says: your file imports the grader \(grader|does not load: (PermissionError|LookupError|FileNotFoundError)
# outcome: failed
import pathlib, grader
git = pathlib.Path(grader.__file__).parent.parent / ".git"
text = (git / "HEAD").read_text()
raise RuntimeError("read " + text)
