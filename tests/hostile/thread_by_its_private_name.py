# says: your file starts a thread
# outcome: failed
import _thread
import torch

def masked_softmax(scores, mask=None, dim=-1):
    try:
        _thread.start_new_thread(torch.softmax, (scores, dim))
    except RuntimeError:
        pass
    return torch.softmax(scores, dim)
