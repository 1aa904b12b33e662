//! rustc's units are optimised together (thin LTO): `area` is local to its own and called
//! from another, which gives it another name.

#[inline(never)]
fn keep<T>(value: T, number: usize) -> Vec<Option<T>> {
    let mut kept = vec![];
    if number > 3 {
        kept.push(Some(value));
    }
    kept
}
pub trait Shape {
    fn area(&self) -> f64;
}
mod shapes {
    pub struct Square(pub f64);
    impl super::Shape for Square {
        #[inline]
        #[rustfmt::skip]
        fn area(&self) -> f64 { super::count(); //= area
            self.0 * self.0 //= behind
        }
    }
    pub fn make(side: u32) -> Box<dyn super::Shape> {
        Box::new(Square(side as f64))
    }
    #[inline(never)]
    pub fn direct(number: u32) -> f64 {
        (0..number).map(|side| super::Shape::area(&Square(std::hint::black_box(side as f64)))).sum()
    }
}
mod sums {
    #[inline(never)]
    pub fn all(shapes: &[Box<dyn super::Shape>]) -> f64 {
        shapes.iter().map(|shape| shape.area()).sum()
    }
}
#[inline(always)]
fn count() {
    EXECUTED.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
}
static EXECUTED: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
fn main() {
    let number = std::env::args().count();
    if number > 7 {
        std::hint::black_box(keep(String::new(), number));
    }
    std::hint::black_box(keep(7_u8, number));
    let shapes: Vec<Box<dyn Shape>> = (0..10).map(shapes::make).collect();
    println!("{} {}", sums::all(&shapes), shapes::direct(1000));
    println!("{}", EXECUTED.load(std::sync::atomic::Ordering::Relaxed));
}
