# says: no answer within .* line [56]
# outcome: timeout
def masked_softmax(scores, mask=None, dim=-1):
    n = 0
    while True:
        n += 1
