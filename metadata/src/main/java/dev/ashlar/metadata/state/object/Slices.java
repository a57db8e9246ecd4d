package dev.ashlar.metadata.state.object;

import dev.ashlar.protocol.message.SliceValue;
import java.util.ArrayList;
import java.util.List;

/** Operations on the list of slices of an object or part. */
final class Slices {
  private Slices() {}

  /** The slices of a range. */
  static List<SliceValue> cut(List<SliceValue> slices, long offset, long length) {
    List<SliceValue> range = new ArrayList<>();
    long position = 0;
    for (SliceValue slice : slices) {
      long from = Math.max(offset, position);
      long to = Math.min(offset + length, position + slice.getLength());
      if (from < to) {
        range.add(
            slice.toBuilder()
                .setOffset(slice.getOffset() + from - position)
                .setLength(to - from)
                .build());
      }
      position += slice.getLength();
    }
    return range;
  }

  /**
   * The result of a replacement.
   *
   * @param all the new list
   * @param gone the slices removed from the old list
   * @param added the slices that replace them
   */
  record Replaced(List<SliceValue> all, List<SliceValue> gone, List<SliceValue> added) {}

  /**
   * Replaces as many bytes from the offset on by these pieces, and appends what exceeds the end.
   * Pieces that continue their neighbours are joined with them, so that changing a blob in place
   * leaves one slice of it.
   */
  static Replaced replace(List<SliceValue> slices, long offset, List<SliceValue> pieces) {
    long end = offset + pieces.stream().mapToLong(SliceValue::getLength).sum();
    int from = 0;
    long fromPosition = 0;
    while (from < slices.size() && fromPosition + slices.get(from).getLength() < offset) {
      fromPosition += slices.get(from++).getLength();
    }
    int to = from;
    long toPosition = fromPosition;
    while (to < slices.size() && toPosition <= end) {
      toPosition += slices.get(to++).getLength();
    }
    List<SliceValue> gone = slices.subList(from, to);
    List<SliceValue> added = new ArrayList<>();
    cut(gone, 0, offset - fromPosition).forEach(slice -> join(added, slice));
    pieces.forEach(slice -> join(added, slice));
    cut(gone, end - fromPosition, Math.max(0, toPosition - end))
        .forEach(slice -> join(added, slice));
    List<SliceValue> all = new ArrayList<>(slices.subList(0, from));
    all.addAll(added);
    all.addAll(slices.subList(to, slices.size()));
    return new Replaced(all, gone, added);
  }

  private static void join(List<SliceValue> slices, SliceValue next) {
    SliceValue last = slices.isEmpty() ? null : slices.getLast();
    if (last != null
        && last.getBlob().equals(next.getBlob())
        && last.getOffset() + last.getLength() == next.getOffset()) {
      long length = last.getLength() + next.getLength();
      slices.set(slices.size() - 1, last.toBuilder().setLength(length).build());
    } else {
      slices.add(next);
    }
  }
}
