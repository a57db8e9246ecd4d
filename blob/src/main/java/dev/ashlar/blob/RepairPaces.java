package dev.ashlar.blob;

/**
 * How fast shards are made anew or moved; what is lacking need not wait for what is only moved.
 *
 * @param lost of what is read because shards are lacking
 * @param moves of what is copied because shards are to be on other drives
 */
public record RepairPaces(RepairPace lost, RepairPace moves) {
  /** As fast as it can. */
  static RepairPaces unbounded() {
    return new RepairPaces(new RepairPace(0), new RepairPace(0));
  }
}
