"""Where each filter of a statement belongs: facts go up and come down to the scans."""
