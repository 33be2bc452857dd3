# says: OSError|PermissionError
# outcome: failed
def masked_softmax(scores, mask=None, dim=-1):
    with open("a-file", "w") as stream:
        stream.write("x" * 10**9)
