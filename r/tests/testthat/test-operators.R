a <- c(1.5, -2, 3)
b <- c(2, 0.5, -1)
x <- torch_tensor(a, dtype = torch_double())
y <- torch_tensor(b, dtype = torch_double())

test_that("operators of R", {
  for (f in list(
    `+`, `-`, `*`, `/`, `%%`, `%/%`, `==`, `!=`, `<`, `<=`, `>`, `>=`
  )) {
    expect_equal(as.array(f(x, y)), f(a, b))
    expect_equal(as.array(f(x, b)), f(a, b))
    expect_equal(as.array(f(a, y)), f(a, b))
    expect_equal(as.array(f(2, y)), f(2, b))
    expect_equal(as.array(f(x, 2)), f(a, 2))
  }
  expect_equal(as.array(abs(x)^y), abs(a)^b)
  expect_equal(as.array(-x), -a)
  expect_equal(as.array((x > 0) & (y > 0)), a > 0 & b > 0)
  expect_equal(as.array((x > 0) | (y > 0)), a > 0 | b > 0)
  expect_equal(as.array(!(x > 0)), !(a > 0))
})

test_that("functions of the group Math", {
  u <- c(0.2, 0.5, 0.9)
  v <- torch_tensor(u, dtype = torch_double())
  for (f in list(
    abs, sign, sqrt, floor, ceiling, trunc, exp, log, expm1, log1p, cos, sin, tan, cosh, sinh, tanh,
    acos, asin, atan, asinh, atanh, log2, log10, lgamma, gamma, digamma, cumsum, cumprod, round
  )) {
    expect_equal(as.array(f(v)), f(u))
  }
  expect_equal(as.array(acosh(v + 1)), acosh(u + 1))
  expect_equal(as.array(log(v, 3)), log(u, 3))
  expect_equal(as.array(log(v, base = 3)), log(u, base = 3))
  expect_equal(as.array(round(x / 7, 2)), round(a / 7, 2))
  expect_equal(as.array(gamma(x - 0.2)), gamma(a - 0.2))
  expect_error(cummax(x), "not defined for tensors")
})

test_that("functions of the group Summary", {
  for (f in list(sum, prod, max, min, range)) {
    expect_equal(as.array(f(x)), f(a))
  }
  expect_equal(as.array(all(x > 0)), FALSE)
  expect_equal(as.array(any(x > 0)), TRUE)
  expect_equal(as.array(mean(x)), mean(a))
  expect_error(sum(x, na.rm = TRUE), "na.rm")
})
