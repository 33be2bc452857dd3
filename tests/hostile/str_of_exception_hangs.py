# says: no answer within
# outcome: timeout
class Odd(Exception):
    def __str__(self):
        while True: pass
def masked_softmax(scores, mask=None, dim=-1):
    raise Odd
