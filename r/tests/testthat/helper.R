# The tests need Python and the Python package. Where they must not be left out, the environment
# variable ARRAYGRAD_R_TESTS says so.
if (!torch_is_installed()) {
  if (nzchar(Sys.getenv("ARRAYGRAD_R_TESTS"))) {
    stop("Python does not find the package arraygrad: set RETICULATE_PYTHON")
  }
  testthat::skip("Python does not find the package arraygrad: set RETICULATE_PYTHON")
}

printed <- function(x) utils::capture.output(print(x))

numeric_gradient <- function(f, x, h = 1e-5) {
  vapply(seq_along(x), function(i) {
    step <- replace(numeric(length(x)), i, h)
    (f(x + step) - f(x - step)) / (2 * h)
  }, numeric(1))
}
