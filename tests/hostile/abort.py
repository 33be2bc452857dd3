# says: SIGABRT
# outcome: crashed
import os
def masked_softmax(scores, mask=None, dim=-1):
    os.abort()
