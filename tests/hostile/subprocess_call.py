# says: PermissionError|Operation not permitted
# outcome: failed
import subprocess
def masked_softmax(scores, mask=None, dim=-1):
    subprocess.run(["/bin/sh", "-c", "echo hello"], check=True)
