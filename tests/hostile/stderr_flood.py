# says: printed more than
# outcome: crashed
import os
def masked_softmax(scores, mask=None, dim=-1):
    while True:
        os.write(2, b"\x1b[2J" * 4000)
