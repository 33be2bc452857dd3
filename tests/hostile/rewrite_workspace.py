# says: PermissionError
# outcome: failed
WORKSPACE = "@WORKSPACE@"
def masked_softmax(scores, mask=None, dim=-1):
    with open(WORKSPACE + "/masked_softmax.py", "w") as stream:
        stream.write("owned")
