"""Other packages that can use fldsl's kernels."""
