"""What the sandbox can observe of a call: device, cost, calls."""
