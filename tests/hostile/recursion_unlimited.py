# says: SIGSEGV|without end|SIGABRT|no answer within|out of memory|more than 1024 MiB
# outcome: crashed failed timeout
import sys
sys.setrecursionlimit(10**9)
def masked_softmax(scores, mask=None, dim=-1):
    return [masked_softmax(scores, mask, dim) for _ in range(1)]
