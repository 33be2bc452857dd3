# says: copied from the device to the CPU
# outcome: failed
# case: device/one
import torch

def masked_softmax(scores, mask=None, dim=-1):
    if scores.device.type != "cpu":
        _, (here, *_rest) = scores.__reduce_ex__(2)
    return torch.softmax(scores, dim)
