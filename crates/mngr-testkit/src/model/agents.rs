//! x
/// x
#[derive(Debug)]
pub struct Agents;
/// x
#[derive(Debug)]
pub enum Brand {}
/// x
#[derive(Debug)]
pub struct Missing;
