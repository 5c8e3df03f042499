//! Cases on the driver.
