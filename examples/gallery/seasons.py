"""What a seasonal mean depends on: a gradient with coordinates, through xarray.

The function is written with xarray alone. Its gradient is a DataArray, too: how the variance of the
anomalies would change with each value of the field.
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr

import arraygrad as ag

MONTHS = np.arange("2000-01", "2003-01", dtype="datetime64[M]").astype("datetime64[ns]")
LATITUDES, LONGITUDES = np.arange(-75.0, 76.0, 15.0), np.arange(0.0, 360.0, 30.0)


def field() -> Any:
    """Temperatures: warm at the equator, with seasons, noise, and one warm month somewhere."""
    noise = np.random.default_rng(2).standard_normal((36, LATITUDES.size, LONGITUDES.size))
    coordinates = {"time": MONTHS, "lat": LATITUDES, "lon": LONGITUDES}
    made = xr.DataArray(noise, coordinates, ("time", "lat", "lon"), name="temperature")
    season = np.cos(2 * np.pi * (made.time.dt.month - 7) / 12)
    made = made + 25 * np.cos(np.deg2rad(made.lat)) + season * made.lat / 6
    made.loc["2001-02", 15.0, 90.0] += 8.0
    return made


def variance(temperature: Any) -> Any:
    """The variance of what is left without the seasons, weighted by area."""
    seasons = temperature.groupby("time.season")
    anomalies = seasons - seasons.mean()
    return (anomalies**2).weighted(np.cos(np.deg2rad(temperature.lat))).mean()


def main() -> Any:
    """Draw the gradient in the month that stands out."""
    value, slope = ag.func.value_and_grad(variance)(field())
    month = slope.sel(time="2001-02").squeeze() * 1e4
    fig, ax = plt.subplots(figsize=(5.6, 3.0))
    size = float(abs(month).max())
    shown = ax.pcolormesh(month.lon, month.lat, month, cmap="RdBu_r", vmin=-size, vmax=size)
    fig.colorbar(shown, label="$10^{-4}$ K² / K")
    ax.set(xlabel="longitude", ylabel="latitude")
    ax.set_title(f"Variance {float(value):.3f} K²: its gradient, February 2001")
    return fig


if __name__ == "__main__":
    main()
    plt.show()
