package dev.ashlar.blob.move;

import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.message.SliceValue;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.PlacedProfile;
import org.jspecify.annotations.Nullable;

/**
 * What is to be done next to move a version.
 *
 * @param source the version as it is
 * @param profile of the new blobs
 * @param range of bytes that have another profile; null: none have, only the class is another one
 * @param isLast whether nothing is left to do after it
 */
record Step(ObjectRead source, PlacedProfile profile, @Nullable ByteRange range, boolean isLast) {
  /**
   * The next step; null if the version is as it should be.
   *
   * @param bytesMax of the range
   */
  static @Nullable Step next(
      ObjectRead source, PlacedProfile profile, String storageClass, long bytesMax) {
    long begin = -1; // of the range
    long end = -1;
    boolean isLast = true;
    long position = 0;
    for (SliceValue slice : source.object().getSlicesList()) {
      long behind = position + slice.getLength();
      boolean isElsewhere = BlobId.of(slice.getBlob()).profile() != profile.number();
      if (isElsewhere && begin < 0) {
        begin = position;
        end = position;
      }
      if (isElsewhere && end == position) {
        end = Math.min(behind, begin + bytesMax);
      }
      isLast &= !isElsewhere || end == behind;
      position = behind;
    }
    if (begin >= 0) {
      return new Step(source, profile, new ByteRange(begin, end - begin), isLast);
    }
    boolean isOfClass = source.object().getSummary().getStorageClass().equals(storageClass);
    return isOfClass ? null : new Step(source, profile, null, true);
  }

  /** How many bytes it moves. */
  long bytes() {
    return range == null ? 0 : range.length();
  }
}
