# says: no answer within .* line 5
# outcome: timeout
import time
def masked_softmax(scores, mask=None, dim=-1):
    time.sleep(3600)
