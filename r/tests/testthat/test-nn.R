linear <- autograd_function(
  forward = function(ctx, input, weight, bias = NULL) {
    ctx$save_for_backward(input = input, weight = weight, bias = bias)
    output <- input$mm(weight$t())
    if (is.null(bias)) output else output + bias$unsqueeze(1)$expand_as(output)
  },
  backward = function(ctx, grad_output) {
    s <- ctx$saved_variables
    grads <- list(input = NULL, weight = NULL, bias = NULL)
    if (ctx$needs_input_grad$input) grads$input <- grad_output$mm(s$weight)
    if (ctx$needs_input_grad$weight) grads$weight <- grad_output$t()$mm(s$input)
    if (!is.null(s$bias) && ctx$needs_input_grad$bias) grads$bias <- grad_output$sum(dim = 1)
    grads
  }
)

test_that("a module has the parameters that are assigned to it", {
  type <- nn_module(
    "my_linear",
    initialize = function(inputs, outputs, bias = TRUE) {
      self$w <- nn_parameter(torch_randn(outputs, inputs))
      self$b <- if (bias) nn_parameter(torch_zeros(outputs))
    },
    forward = function(input) linear(input, self$w, self$b)
  )
  model <- type(4, 2)
  expect_equal(names(model$parameters), c("w", "b"))
  x <- torch_randn(3, 4)
  model(x)$sum()$backward()
  expect_equal(as.numeric(model$b$grad), c(3, 3))
  expect_equal(as_array(model$w$grad)[1, ], as.numeric(x$sum(dim = 1)), tolerance = 1e-6)
  expect_equal(names(type(4, 2, bias = FALSE)$parameters), "w")
  expect_s3_class(model, "my_linear")
  expect_output(print(model), "10 parameters")
  expect_error(nn_module("none"), "forward")
  expect_error(nn_module(forward = identity, inherit = type), "inherit")
})

test_that("modules hold modules", {
  net <- nn_module(
    initialize = function() {
      self$fc1 <- nn_linear(2, 8)
      self$act <- nn_relu()
      self$fc2 <- nn_linear(8, 1)
      self$offset <- nn_buffer(torch_ones(1))
      self$rate <- 0.5
    },
    forward = function(x) self$fc2(self$act(self$fc1(x))) + self$offset
  )
  model <- net()
  expect_equal(names(model$parameters), c("fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"))
  expect_equal(names(model$state_dict())[5], "offset")
  expect_equal(model$rate, 0.5)
  model$eval()
  expect_false(model$fc1$training)
  other <- net()
  other$load_state_dict(model$state_dict())
  x <- torch_randn(3, 2)
  expect_equal(as_array(other(x)), as_array(model(x)))
  expect_error(other$load_state_dict(list()), "fc1.weight")
  chain <- nn_sequential(nn_linear(2, 3), nn_tanh(), nn_linear(3, 1))
  expect_equal(dim(chain(x)), c(3L, 1L))
  expect_equal(length(chain), 3L)
  expect_equal(names(chain$parameters)[4], "2.bias")
})

test_that("losses are those of their definitions", {
  logits <- matrix(c(1, 0, 2, -1, 0.5, 3), 2)
  p <- exp(logits) / rowSums(exp(logits))
  x <- torch_tensor(logits, dtype = torch_double())
  classes <- torch_tensor(c(3L, 1L))
  expected <- -log(c(p[1, 3], p[2, 1]))
  expect_equal(as.numeric(nnf_cross_entropy(x, classes, reduction = "none")), expected)
  expect_equal(nnf_cross_entropy(x, classes)$item(), mean(expected))
  expect_equal(nn_mse_loss()(x, x + 2)$item(), 4)
  expect_equal(nnf_l1_loss(x, x + 2, reduction = "sum")$item(), 12)
  expect_error(nnf_cross_entropy(x, torch_tensor(c(4L, 1L))))
  expect_error(nnf_cross_entropy(x, torch_tensor(c(0L, 1L))))
  expect_error(nnf_mse_loss(x, x, reduction = "median"), "reduction")
})

test_that("optimisers take the steps of torch", {
  steps <- function(make) {
    w <- torch_tensor(c(1, -2), dtype = torch_double(), requires_grad = TRUE)
    optimizer <- make(list(w))
    for (i in 1:3) {
      optimizer$zero_grad()
      (w^2)$sum()$backward()
      optimizer$step()
    }
    as.numeric(w)
  }
  expect_equal(steps(function(p) optim_sgd(p, lr = 0.1)), c(1, -2) * 0.8^3)
  w <- c(1, -2)
  v <- 0
  for (i in 1:3) {
    v <- 0.9 * v + 2 * w
    w <- w - 0.1 * v
  }
  expect_equal(steps(function(p) optim_sgd(p, lr = 0.1, momentum = 0.9)), w)
  w <- c(1, -2)
  m <- s <- 0
  for (i in 1:3) {
    m <- 0.9 * m + 0.1 * 2 * w
    s <- 0.999 * s + 0.001 * 4 * w^2
    w <- w - 0.1 * (m / (1 - 0.9^i)) / (sqrt(s / (1 - 0.999^i)) + 1e-8)
  }
  expect_equal(steps(function(p) optim_adam(p, lr = 0.1)), w)
  expect_error(optim_sgd(list(1), lr = 0.1), "params")
  expect_error(optim_sgd(list(torch_ones(1)), lr = -1), "lr")
})

test_that("recording is switched off and on", {
  x <- torch_tensor(1, requires_grad = TRUE)
  without <- function() {
    local_no_grad()
    x * 2
  }
  expect_false(without()$requires_grad)
  expect_true((x * 2)$requires_grad)
  expect_true(autograd_set_grad_mode(FALSE))
  expect_false((x * 2)$requires_grad)
  with_grad <- function() {
    local_enable_grad()
    x * 2
  }
  expect_true(with_grad()$requires_grad)
  expect_false(autograd_set_grad_mode(TRUE))
  expect_true((x * 2)$requires_grad)
})

test_that("first values are of their distributions", {
  torch_manual_seed(1)
  w <- nn_parameter(torch_zeros(200, 50))
  nn_init_kaiming_uniform_(w, nonlinearity = "relu")
  expect_equal(w$detach()$abs()$max()$item(), sqrt(6 / 50), tolerance = 0.01)
  nn_init_xavier_normal_(w)
  expect_equal(w$detach()$std()$item(), sqrt(2 / 250), tolerance = 0.05)
  expect_true(w$requires_grad && w$is_leaf)
  nn_init_uniform_(w, 2, 3)
  expect_true(w$detach()$min()$item() >= 2)
  expect_equal(as.array(nn_init_eye_(torch_zeros(2, 3))), diag(1, 2, 3))
  expect_equal(as.numeric(nn_init_constant_(torch_zeros(2), 7)), c(7, 7))
  expect_error(nn_init_xavier_normal_(torch_zeros(2)), "two dimensions")
  expect_error(nn_init_kaiming_normal_(w, mode = "fan"), "fan_in")
})

test_that("gradients are clipped", {
  a <- torch_tensor(c(3, 0), requires_grad = TRUE)
  b <- torch_tensor(4, requires_grad = TRUE)
  expect_error(nn_utils_clip_grad_norm_(list(a, b), 1), "backward")
  ((a^2)$sum() / 2 + (b^2)$sum() / 2)$backward()
  expect_equal(nn_utils_clip_grad_norm_(list(a, b), 1)$item(), 5, tolerance = 1e-6)
  expect_equal(as.numeric(a$grad), c(0.6, 0), tolerance = 1e-5)
  nn_utils_clip_grad_value_(list(a, b), 0.5)
  expect_equal(c(as.numeric(a$grad), as.numeric(b$grad)), c(0.5, 0, 0.5))
})
