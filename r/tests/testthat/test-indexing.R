m <- matrix(as.double(1:12), 3)
x <- torch_tensor(m)

test_that("indices choose as in R", {
  expect_equal(as.array(x[1, ]), m[1, ])
  expect_equal(as.array(x[, 2]), m[, 2])
  expect_equal(as.array(x[2:3, ]), m[2:3, ])
  expect_equal(as.array(x[c(1, 3), c(2, 4)]), m[c(1, 3), c(2, 4)])
  expect_equal(as.array(x[c(TRUE, FALSE, TRUE), ]), m[c(TRUE, FALSE, TRUE), ])
  expect_equal(as.array(x[2, c(1, 4)]), m[2, c(1, 4)])
  expect_equal(as.array(x[1, 2, drop = FALSE]), m[1, 2, drop = FALSE])
  expect_equal(as.array(x[2]), m[2, ])
  i <- 2:3
  expect_equal(as.array(x[i, 1:2]), m[i, 1:2])
  n <- 2
  expect_equal(as.array(x[1:n, ]), m[1:n, ])
})

test_that("indices of torch", {
  expect_equal(as.array(x[-1, ]), m[3, ])
  expect_equal(as.array(x[2:N, ]), m[2:3, ])
  expect_equal(as.array(x[2:-1, ]), m[2:3, ])
  expect_equal(as.array(x[.., 1]), m[, 1])
  expect_equal(x[newaxis, , 1]$shape, c(1L, 3L))
  expect_equal(as.array(x[, slc(1, Inf, 2)]), m[, c(1, 3)])
  expect_equal(as.array(x[, 1:4:2]), m[, c(1, 3)])
  expect_setequal(as.array(x[x > 10]), m[m > 10])
  expect_equal(as.array(x[torch_tensor(c(1L, 3L)), ]), m[c(1, 3), ])
})

test_that("indices that do not exist are errors", {
  expect_error(x[0, ], "index 1")
  expect_error(x[4, ], "index 1")
  expect_error(x[, c(1, 9)], "index 2")
  expect_error(x[1, 1, 1], "3 indices")
  expect_error(x["a"], "not character")
})

test_that("writes", {
  y <- x$clone()
  y[1, ] <- 0
  y[2, 2:3] <- c(70, 80)
  y[c(1, 3), c(1, 4)] <- matrix(1:4, 2)
  n <- m
  n[1, ] <- 0
  n[2, 2:3] <- c(70, 80)
  n[c(1, 3), c(1, 4)] <- matrix(1:4, 2)
  expect_equal(as.array(y), n)
  y[y > 50] <- -1
  n[n > 50] <- -1
  expect_equal(as.array(y), n)
  y[3, c(1, 2)] <- torch_tensor(c(5, 6))
  n[3, c(1, 2)] <- c(5, 6)
  expect_equal(as.array(y), n)
})

test_that("gradients go through indices and writes", {
  w <- torch_tensor(c(1, 2, 3), requires_grad = TRUE)
  y <- w * 2
  y[2] <- 0
  expect_equal(as.numeric(autograd_grad((y[c(1, 2, 3)] * c(1, 10, 100))$sum(), w)[[1]]), c(2, 0, 200))
})
