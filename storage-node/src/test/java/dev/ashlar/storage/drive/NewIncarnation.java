package dev.ashlar.storage.drive;

import dev.ashlar.storage.io.ChannelFiles;
import dev.ashlar.storage.io.IoMode;
import dev.ashlar.storage.io.RawFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;

/** Has a drive that is not open begin a new incarnation, as a failed write of its log does. */
public final class NewIncarnation {
  private NewIncarnation() {}

  /**
   * @param folder of a drive that no process has open
   */
  public static void begin(Path folder) {
    try {
      RawFiles files = ChannelFiles.open(folder, IoMode.BUFFERED);
      DriveIdentity.read(files).nextIncarnation(0).write(files);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
