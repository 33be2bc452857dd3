# says: your file starts a thread
# outcome: failed
import threading
import torch

def masked_softmax(scores, mask=None, dim=-1):
    out = []
    worker = threading.Thread(target=lambda: out.append(torch.softmax(scores, dim)))
    worker.start()
    worker.join()
    return out[0]
