package dev.ashlar.server.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The master key that a store in one process makes for itself where it is given none, so that
 * SSE-S3 works at once. It lies beside the metadata, in each of its folders: it protects drives
 * that are lost without metadata, and nothing else.
 *
 * @param keys by name
 * @param text of its file
 */
public record OwnMasterKey(Map<String, byte[]> keys, String text) {
  private static final Logger LOG = LoggerFactory.getLogger(OwnMasterKey.class);

  /** Its name in a metadata folder. */
  public static final String FILE = "master-key";

  private static final int KEY_BYTES = 32;
  private static final int NAME_BYTES = 4;

  /**
   * From the first folder that has it, else made up. Writes nothing.
   *
   * @param isNeeded whether the store may have objects that it encrypts: then none is made up
   * @throws IOException if it is needed and no folder has it, or if there are files and none can be
   *     read
   */
  public static OwnMasterKey find(List<Path> folders, boolean isNeeded) throws IOException {
    Exception damage = null;
    for (Path folder : folders) {
      Path file = folder.resolve(FILE);
      if (Files.exists(file)) {
        try {
          return new OwnMasterKey(MasterKeyFile.read(file), Files.readString(file));
        } catch (IOException | IllegalArgumentException e) {
          LOG.error("Cannot read the master key: {}", e.getMessage());
          damage = e;
        }
      }
    }
    if (damage != null) {
      throw new IOException("the master key cannot be read: " + damage.getMessage(), damage);
    }
    if (isNeeded) {
      throw new IOException(
          "the store has encrypted objects, but there is no file "
              + FILE
              + " in "
              + folders
              + ": put it back from its copy. If nothing is encrypted with it, or it is lost for"
              + " good, name a file with a new master key with --master-key-file. Should the lost"
              + " one be found later, add its line to that file, behind the first, and replace"
              + " nothing");
    }
    OwnMasterKey made = made();
    LOG.info("Made master key {}: it encrypts SSE-S3.", made.keys.keySet().iterator().next());
    return made;
  }

  private static OwnMasterKey made() {
    SecureRandom random = new SecureRandom();
    byte[] key = new byte[KEY_BYTES];
    random.nextBytes(key);
    byte[] suffix = new byte[NAME_BYTES];
    random.nextBytes(suffix);
    // No two stores have keys of the same name.
    String name = "own-" + HexFormat.of().formatHex(suffix);
    return new OwnMasterKey(
        Map.of(name, key),
        "# Encrypts the objects of SSE-S3, and in a cluster the secrets of access keys. Without it"
            + " they are lost: keep a copy elsewhere.\n"
            + name
            + "="
            + Base64.getEncoder().encodeToString(key)
            + "\n");
  }

  /** Writes it into every folder that lacks it. */
  public void keep(List<Path> folders) throws IOException {
    for (Path folder : folders) {
      Path file = folder.resolve(FILE);
      if (!Files.exists(file)) {
        DurableFile.write(file, text, "rw-------");
      }
    }
  }

  /** Without the key. */
  @Override
  public String toString() {
    return "OwnMasterKey" + keys.keySet();
  }
}
