# family: core
# mistake: dropout-in-evaluation
# F.dropout is called without training=self.training, so entries are dropped in evaluation too.
import torch.nn.functional as F
from torch import Tensor, nn


class AddNorm(nn.Module):
    def __init__(self, normalized_shape: int, dropout: float = 0.0) -> None:
        super().__init__()
        width_of_the_last_axis = normalized_shape
        self.ln = nn.LayerNorm(width_of_the_last_axis)
        self.drop_probability = dropout

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        what_went_in = x
        what_came_out = F.dropout(y, p=self.drop_probability)  # wrong
        residual_sum = what_went_in + what_came_out
        normalised_sum = self.ln(residual_sum)
        return normalised_sum
