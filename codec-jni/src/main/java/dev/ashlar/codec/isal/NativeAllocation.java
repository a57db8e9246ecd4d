package dev.ashlar.codec.isal;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Allocates the space of files without writing it, which Java cannot. */
public final class NativeAllocation {
  private static final boolean AVAILABLE = NativeLibrary.failure() == null;

  private NativeAllocation() {}

  /**
   * Durably allocates the space of an existing, empty file and makes it so long. What is not
   * written is read as zeros.
   *
   * @return false if the library is not loaded, the file system refuses, there is no space, or
   *     anything else fails; the file may have some of its space then
   */
  public static boolean allocate(Path file, long bytes) {
    if (bytes < 1) {
      throw new IllegalArgumentException("a file of " + bytes + " bytes");
    }
    return AVAILABLE
        && NativeMethods.allocateFile(file.toString().getBytes(StandardCharsets.UTF_8), bytes);
  }
}
