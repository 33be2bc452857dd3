"""All that crosses a border between processes: JSON lines, frames, trees of tensors, operations, output."""
