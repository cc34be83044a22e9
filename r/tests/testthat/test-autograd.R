test_that("backward adds to grad", {
  x <- torch_tensor(c(1, 2), requires_grad = TRUE)
  expect_true(is_undefined_tensor(x$grad))
  (x^2)$sum()$backward()
  (x^2)$sum()$backward()
  expect_equal(as.numeric(x$grad), c(4, 8))
  x$grad$zero_()
  autograd_backward(list((x^3)$sum()))
  expect_equal(as.numeric(x$grad), c(3, 12))
  autograd_backward(list(x * 2), list(torch_tensor(c(1, 10))))
  expect_equal(as.numeric(x$grad), c(5, 32))
  x$grad <- NULL
  expect_true(is_undefined_tensor(x$grad))
})

test_that("gradients agree with differences", {
  f <- function(v) sum(sin(v) * exp(v)) + prod(v) / max(v)
  at <- c(0.5, 1.2, 2)
  x <- torch_tensor(at, dtype = torch_double(), requires_grad = TRUE)
  expect_equal(as.numeric(autograd_grad(f(x), x)[[1]]), numeric_gradient(f, at), tolerance = 1e-6)
})

test_that("derivatives of higher order", {
  x <- torch_tensor(2, requires_grad = TRUE)
  first <- autograd_grad(x^3, x, create_graph = TRUE)[[1]]
  expect_equal(as.numeric(first), 12)
  expect_equal(as.numeric(autograd_grad(first, x)[[1]]), 12)
})

test_that("unused inputs and errors", {
  x <- torch_tensor(1, requires_grad = TRUE)
  z <- torch_tensor(1, requires_grad = TRUE)
  expect_error(autograd_grad(x^2, list(x, z)), "allow_unused", class = "arraygrad_error")
  found <- autograd_grad(x^2, list(x, z), allow_unused = TRUE)
  expect_true(is_undefined_tensor(found[[2]]))
  y <- x^2
  autograd_grad(y, x)
  error <- tryCatch(autograd_grad(y, x), error = identity)
  expect_match(conditionMessage(error), "retain_graph")
  expect_no_match(conditionMessage(error), "Error|Traceback|reticulate|\n")
  expect_null(conditionCall(error))
  expect_error(torch_zeros(2) + torch_zeros(3), class = "RuntimeError")
})

test_that("code without a record", {
  x <- torch_tensor(1, requires_grad = TRUE)
  expect_false(with_no_grad(x * 2)$requires_grad)
  expect_true((x * 2)$requires_grad)
  with_no_grad(expect_true(with_enable_grad(x * 2)$requires_grad))
  try(with_no_grad(stop("oh")), silent = TRUE)
  expect_true((x * 2)$requires_grad)
})

test_that("hooks", {
  x <- torch_tensor(1, requires_grad = TRUE)
  seen <- NULL
  handle <- x$register_hook(function(g) {
    seen <<- as.numeric(g)
    g * 10
  })
  expect_equal(as.numeric(autograd_grad(3 * x, x)[[1]]), 30)
  expect_equal(seen, 3)
  handle$remove()
  expect_equal(as.numeric(autograd_grad(3 * x, x)[[1]]), 3)
  x$register_hook(function(g) stop("told by the hook"))
  expect_error(autograd_grad(3 * x, x), "^told by the hook$")
})

test_that("functions with a derivative of their own", {
  linear <- autograd_function(
    forward = function(ctx, input, weight, bias = NULL) {
      ctx$save_for_backward(input = input, weight = weight, bias = bias)
      output <- input$mm(weight$t())
      if (!is.null(bias)) {
        output <- output + bias$unsqueeze(1)$expand_as(output)
      }
      output
    },
    backward = function(ctx, grad_output) {
      s <- ctx$saved_variables
      grads <- list(input = NULL, weight = NULL, bias = NULL)
      if (ctx$needs_input_grad$input) {
        grads$input <- grad_output$mm(s$weight)
      }
      if (ctx$needs_input_grad$weight) {
        grads$weight <- grad_output$t()$mm(s$input)
      }
      if (!is.null(s$bias) && ctx$needs_input_grad$bias) {
        grads$bias <- grad_output$sum(dim = 1)
      }
      grads
    }
  )
  input <- torch_tensor(matrix(c(1, 2, 3, 4), 2))
  weight <- torch_tensor(matrix(c(0.5, -1, 2, 0.1, 3, 1), 3), requires_grad = TRUE)
  bias <- torch_tensor(c(1, 2, 3), requires_grad = TRUE)
  own <- autograd_grad((linear(input, weight, bias)^2)$sum(), list(weight, bias))
  plain <- autograd_grad(((input$mm(weight$t()) + bias)^2)$sum(), list(weight, bias))
  expect_equal(lapply(own, as.array), lapply(plain, as.array))
  own <- autograd_grad(linear(input, weight = weight)$sum(), weight)
  expect_equal(as.array(own[[1]]), matrix(colSums(as.array(input)), 3, 2, byrow = TRUE))
  wrong <- autograd_function(function(ctx, x) x * 2, function(ctx, g) g)
  x <- torch_tensor(1, requires_grad = TRUE)
  expect_error(autograd_grad(wrong(x), x), "by the names of arguments")
})

test_that("functions with several results, and inputs with names", {
  both <- autograd_function(
    function(ctx, x) list(twice = x * 2, thrice = x * 3),
    function(ctx, a, b) list(x = a * 2 + b * 3)
  )
  x <- torch_tensor(c(1, 2), requires_grad = TRUE)
  out <- both(x)
  found <- autograd_grad((out[[1]] + 10 * out[[2]])$sum(), list(x = x))
  expect_equal(as.numeric(found[[1]]), c(32, 32))
})

test_that("anomalies are found", {
  x <- torch_tensor(0, requires_grad = TRUE)
  expect_error(with_detect_anomaly((sqrt(x) * 0)$sum()$backward()), "NaN", class = "AnomalyError")
  (sqrt(x) * 0)$sum()$backward()
  expect_true(is.nan(as.numeric(x$grad)))
})

test_that("a training loop", {
  torch_manual_seed(1)
  x <- torch_randn(50, 2)
  y <- x$mm(torch_tensor(matrix(c(1, -2), 2)))
  w <- torch_zeros(2, 1, requires_grad = TRUE)
  for (i in 1:50) {
    loss <- ((x$mm(w) - y)^2)$mean()
    loss$backward()
    with_no_grad({
      w$sub_(0.2 * w$grad)
      w$grad$zero_()
    })
  }
  expect_equal(as.numeric(w), c(1, -2), tolerance = 1e-3)
})
