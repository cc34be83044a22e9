# The example in the documentation of torch for R, word for word.
example <- "
if (torch_is_installed()) {
w <- torch_tensor(0.5, requires_grad = TRUE)
b <- torch_tensor(0.9, requires_grad = TRUE)
x <- torch_tensor(runif(100))
y <- 2 * x + 1
loss <- (y - (w * x + b))^2
loss <- loss$mean()

o <- autograd_grad(loss, list(w, b))
o
}
"

test_that("the documented example runs and prints as documented", {
  set.seed(1)
  u <- runif(100)
  set.seed(1)
  result <- eval(parse(text = example))
  lines <- printed(result)
  expect_length(lines, 10)
  expect_equal(lines[c(1, 5, 6, 10)], c("[[1]]", "", "[[2]]", ""))
  expect_equal(lines[c(2, 7)], rep("torch_tensor", 2))
  expect_equal(lines[c(4, 9)], rep("[ CPUFloatType{1} ]", 2))
  expect_match(lines[c(3, 8)], "^-\\d\\.\\d{4}$")
  # d/dw and d/db of mean((2u + 1 - (w u + b))^2)
  residual <- 2 * u + 1 - (0.5 * u + 0.9)
  expected <- c(mean(-2 * residual * u), mean(-2 * residual))
  expect_equal(as.numeric(lines[c(3, 8)]), round(expected, 4), tolerance = 1e-4)
})

test_that("arguments of autograd_grad have the names, order and defaults of the document", {
  expect_equal(
    deparse(args(autograd_grad))[1:2],
    c(
      "function (outputs, inputs, grad_outputs = NULL, retain_graph = create_graph, ",
      "    create_graph = FALSE, allow_unused = FALSE) "
    )
  )
})
