# says: printed more than
# outcome: crashed
def masked_softmax(scores, mask=None, dim=-1):
    while True:
        print("x" * 10000)
