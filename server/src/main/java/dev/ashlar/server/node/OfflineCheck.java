package dev.ashlar.server.node;

import dev.ashlar.metadata.consensus.file.DurableFiles;
import dev.ashlar.storage.drive.DriveCheck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDB;

/** Checks drive folders that no process uses. */
public final class OfflineCheck {
  private OfflineCheck() {}

  /**
   * @param folder of the server's data, or the drive itself
   * @param scratch where a temporary folder is made; null: that of the machine
   */
  public static DriveCheck.Report run(Path folder, @Nullable Path scratch) throws IOException {
    Path drive = DriveCheck.isDrive(folder) ? folder : folder.resolve(DriveFolderState.DRIVE);
    RocksDB.loadLibrary();
    Path copy =
        scratch == null
            ? Files.createTempDirectory("ashlar-fsck")
            : Files.createTempDirectory(scratch, "ashlar-fsck");
    try {
      return DriveCheck.run(drive, copy);
    } finally {
      DurableFiles.deleteTree(copy);
    }
  }
}
