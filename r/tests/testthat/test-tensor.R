test_that("values come back as they went", {
  for (values in list(
    c(1, 2.5), 3L, c(TRUE, FALSE), 1 + 2i, matrix(1:6, 2), array(runif(24), c(2, 3, 4)), numeric(0)
  )) {
    dtype <- if (is.double(values)) torch_double() else if (is.complex(values)) torch_cdouble()
    expect_identical(as.array(torch_tensor(values, dtype = dtype)), values)
  }
})

test_that("types are those of torch", {
  expect_true(torch_tensor(1)$dtype == torch_float())
  expect_true(torch_tensor(1L)$dtype == torch_long())
  expect_true(torch_tensor(TRUE)$dtype == torch_bool())
  expect_true((torch_tensor(1L) * 0.5)$dtype == torch_float())
  expect_true((torch_tensor(1L) * 2L)$dtype == torch_long())
  expect_true((torch_tensor(1:2) * torch_tensor(c(1, 2)))$dtype == torch_float())
  expect_true((torch_tensor(1:2) / 2L)$dtype == torch_float())
  expect_true(exp(torch_tensor(1L))$dtype == torch_float())
  expect_equal(printed(torch_float()), "torch_Float")
  expect_error(torch_tensor(NA_integer_), "NA")
  expect_error(torch_tensor("a"), "not character")
})

test_that("tensors print as torch for R prints them", {
  expect_equal(
    printed(torch_tensor(matrix(c(1.5, 0.25, -20, 3), 2))),
    c("torch_tensor", "  1.5000 -20.0000", "  0.2500   3.0000", "[ CPUFloatType{2,2} ]")
  )
  expect_equal(printed(torch_tensor(1:2)), c("torch_tensor", " 1", " 2", "[ CPULongType{2} ]"))
  expect_equal(
    printed(torch_tensor(0.5, requires_grad = TRUE)),
    c("torch_tensor", " 0.5000", "[ CPUFloatType{1} ][ requires_grad = TRUE ]")
  )
  expect_match(printed(torch_tensor(1, requires_grad = TRUE) * 2)[3], "grad_fn = <.*Backward")
  many <- printed(torch_zeros(100))
  expect_length(many, 33)
  expect_match(many[32], "truncated")
  expect_length(utils::capture.output(print(torch_zeros(100), n = -1)), 102)
  expect_equal(printed(torch_tensor(1)$grad), c("torch_tensor", "[ Tensor (undefined) ]"))
})

test_that("attributes and methods", {
  x <- torch_tensor(matrix(as.double(1:6), 2))
  expect_equal(x$shape, c(2L, 3L))
  expect_equal(dim(x), c(2L, 3L))
  expect_equal(length(x), 6L)
  expect_equal(x$size(2), 3L)
  expect_equal(x$size(-1), 3L)
  expect_equal(x$numel(), 6L)
  expect_equal(x$sum()$item(), 21)
  expect_equal(as.numeric(x$sum(dim = 1)), c(3, 7, 11))
  expect_equal(as.numeric(x$sum(dim = c(1, 2))), 21)
  expect_equal(x$view(c(3, -1))$shape, c(3L, 2L))
  expect_equal(x$view(3, 2)$shape, c(3L, 2L))
  expect_equal(x$unsqueeze(1)$shape, c(1L, 2L, 3L))
  expect_equal(as.array(t(x)), t(as.array(x)))
  expect_equal(as.numeric(torch_argmax(torch_tensor(c(1, 5, 2)))), 2)
  top <- torch_max(x, dim = 2)
  expect_equal(as.numeric(top[[1]]), c(5, 6))
  expect_equal(as.numeric(top[[2]]), c(3, 3))
  z <- torch_tensor(c(1 + 2i, 3i))
  expect_equal(as.numeric(z$real), c(1, 0))
  expect_equal(as.numeric(z$imag), c(2, 3))
  expect_error(x$nothing, "no attribute or method nothing")
  expect_error(torch_device("cuda"), "processor")
})

test_that("methods with an underscore write in place", {
  x <- torch_tensor(c(1, 2))
  same <- x
  x$add_(1)$mul_(2)
  expect_equal(as.numeric(same), c(4, 6))
  x$zero_()
  expect_equal(as.numeric(same), c(0, 0))
  leaf <- torch_tensor(c(1, 2), requires_grad = TRUE)
  expect_error(leaf$add_(1), "leaf")
  with_no_grad(leaf$add_(1))
  expect_equal(as.numeric(leaf), c(2, 3))
  expect_error(torch_zeros(2)$sum_(), "in place")
})

test_that("new tensors", {
  expect_equal(as.array(torch_zeros(2, 3)), matrix(0, 2, 3))
  expect_equal(as.array(torch_ones(c(2, 3))), matrix(1, 2, 3))
  expect_equal(as.numeric(torch_arange(1, 3)), c(1, 2, 3))
  expect_equal(as.numeric(torch_arange(0, 1, 0.1)), seq(0, 1, 0.1), tolerance = 1e-6)
  expect_equal(as.array(torch_eye(2)), diag(2))
  expect_equal(as.numeric(torch_linspace(0, 1, 3)), c(0, 0.5, 1))
  torch_manual_seed(1)
  first <- torch_randn(3)
  torch_manual_seed(1)
  expect_true(torch_equal(first, torch_randn(3)))
  expect_setequal(as.numeric(torch_randperm(4)), 1:4)
  expect_equal(torch_full(c(2, 2), 7)$shape, c(2L, 2L))
})
