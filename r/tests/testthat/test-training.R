test_that("convolutions, batch norms and pools are layers", {
  torch_manual_seed(1)
  model <- nn_sequential(
    nn_conv2d(1, 4, 3, padding = 1), nn_batch_norm2d(4), nn_relu(), nn_max_pool2d(2), nn_flatten()
  )
  x <- torch_randn(5, 1, 6, 6)
  expect_equal(dim(model(x)), c(5, 36))
  expect_equal(names(model$buffers), c("1.running_mean", "1.running_var"))
  expect_true(max(abs(as.numeric(model$buffers[[1]]))) > 0)
  before <- as.numeric(model$buffers[[1]])
  model$eval()
  model(x)
  expect_equal(as.numeric(model$buffers[[1]]), before)
  expect_error(nn_batch_norm2d(4)(torch_zeros(2, 4)), "dimensions")
  layer <- nn_conv1d(2, 1, 2, bias = FALSE)
  layer$weight$detach()$copy_(torch_ones(1, 2, 2))
  expect_equal(as.numeric(layer(torch_ones(1, 2, 3))), c(4, 4))
})

test_that("recurrent layers run over sequences", {
  for (make in list(nn_rnn, nn_gru, nn_lstm)) {
    layer <- make(3, 2, num_layers = 2, bidirectional = TRUE, batch_first = TRUE)
    found <- layer(torch_randn(4, 5, 3))
    expect_equal(dim(found[[1]]), c(4, 5, 4))
    state <- if (is.list(found[[2]])) found[[2]][[1]] else found[[2]]
    expect_equal(dim(state), c(4, 4, 2))
    found[[1]]$sum()$backward()
    expect_false(is_undefined_tensor(layer$parameters[[1]]$grad))
    again <- layer(torch_randn(4, 5, 3), found[[2]])
    expect_equal(dim(again[[1]]), c(4, 5, 4))
  }
})

test_that("data comes in batches", {
  data <- tensor_dataset(torch_arange(1, 5), torch_arange(1, 5)^2)
  loader <- dataloader(data, batch_size = 2)
  expect_equal(length(loader), 3)
  iter <- dataloader_make_iter(loader)
  seen <- list()
  while (!is.null(batch <- dataloader_next(iter))) seen <- c(seen, list(as.numeric(batch[[2]])))
  expect_equal(seen, list(c(1, 4), c(9, 16), 25))
  shuffled <- dataloader_next(dataloader_make_iter(dataloader(data, 5, shuffle = TRUE)))
  expect_equal(sort(as.numeric(shuffled[[1]])), 1:5)
  squares <- dataset(
    initialize = function(n) self$n <- n,
    .getitem = function(i) list(x = torch_tensor(i), y = torch_tensor(i^2)),
    .length = function() self$n
  )
  batch <- dataloader_next(dataloader_make_iter(dataloader(squares(3), 3)))
  expect_equal(as.numeric(batch$y), c(1, 4, 9))
  expect_error(dataloader(data, 0), "batch_size")
})

test_that("tensors and modules are saved", {
  path <- tempfile(fileext = ".pt")
  torch_save(torch_tensor(c(1, 2)), path)
  expect_equal(as.numeric(torch_load(path)), c(1, 2))
  first <- nn_linear(2, 3)
  torch_save(first, path)
  second <- nn_linear(2, 3)
  second$load_state_dict(torch_load(path))
  expect_equal(as.array(second$weight), as.array(first$weight))
})

test_that("learning rates follow a schedule", {
  w <- torch_tensor(3, requires_grad = TRUE)
  rates <- function(make, n = 3) {
    optimizer <- optim_sgd(list(w), lr = 1)
    scheduler <- make(optimizer)
    vapply(seq_len(n), function(i) {
      scheduler$step()
      scheduler$get_last_lr()
    }, numeric(1))
  }
  expect_equal(rates(function(o) lr_step(o, 2, 0.5)), c(1, 0.5, 0.5))
  expect_equal(rates(function(o) lr_multistep(o, c(1, 3), 0.1)), c(0.1, 0.1, 0.01))
  expect_equal(rates(function(o) lr_lambda(o, function(epoch) 1 / (1 + epoch))), 1 / (2:4))
  expect_equal(rates(function(o) lr_cosine_annealing(o, 2), 2), c(0.5, 0), tolerance = 1e-6)
  expect_length(rates(function(o) lr_one_cycle(o, 1, 10)), 3)
  optimizer <- optim_sgd(list(w), lr = 1)
  scheduler <- lr_reduce_on_plateau(optimizer, patience = 0)
  for (i in 1:2) scheduler$step(1)
  expect_equal(scheduler$get_last_lr(), 0.1)
})
