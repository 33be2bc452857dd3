# says: PermissionError
# outcome: failed
import os
WORKSPACE = "@WORKSPACE@"
def masked_softmax(scores, mask=None, dim=-1):
    os.chmod(WORKSPACE + "/masked_softmax.py", 0)
