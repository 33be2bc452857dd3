# says: no answer within .* line 5
# outcome: timeout
import re
def masked_softmax(scores, mask=None, dim=-1):
    re.match(r"(a+)+$", "a" * 64 + "b")
