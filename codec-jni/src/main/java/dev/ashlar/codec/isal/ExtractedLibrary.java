package dev.ashlar.codec.isal;

import java.io.IOException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;

/**
 * Extracts a library from a jar into a file. The file name contains the content's hash, so an
 * upgraded Ashlar never loads an old library. The file is renamed into place, so processes that
 * start together never see a part of it. It is used only if its bytes match and no other user can
 * write to its folder.
 */
final class ExtractedLibrary {
  /** A folder to extract into, for systems where the default ones forbid execution. */
  static final String FOLDER_PROPERTY = "ashlar.native.dir";

  private ExtractedLibrary() {}

  static Path extract(byte[] library, String name) throws IOException {
    IOException failure = new IOException("no folder to extract the library into");
    for (Path folder : folders()) {
      try {
        return extract(library, folder, sha256(library) + "-" + name);
      } catch (IOException e) {
        failure.addSuppressed(e);
      }
    }
    throw failure;
  }

  private static List<Path> folders() {
    List<Path> folders = new ArrayList<>();
    String named = System.getProperty(FOLDER_PROPERTY);
    if (named != null) {
      folders.add(Path.of(named));
    }
    String cache = System.getenv("XDG_CACHE_HOME");
    folders.add(
        cache == null || cache.isEmpty()
            ? Path.of(System.getProperty("user.home"), ".cache", "ashlar", "native")
            : Path.of(cache, "ashlar", "native"));
    String user = System.getProperty("user.name");
    folders.add(Path.of(System.getProperty("java.io.tmpdir"), "ashlar-native-" + user));
    return folders;
  }

  static Path extract(byte[] library, Path folder, String name) throws IOException {
    Path file = folder.resolve(name).toAbsolutePath();
    if (isInstalled(folder) && isInstalled(file) && isWhole(file, library)) {
      return file;
    }
    createPrivate(folder);
    if (isWhole(file, library)) {
      return file;
    }
    Path fresh = Files.createTempFile(folder, name, ".new");
    try {
      Files.write(fresh, library);
      Files.setPosixFilePermissions(fresh, PosixFilePermissions.fromString("r-x------"));
      move(fresh, file);
    } finally {
      Files.deleteIfExists(fresh);
    }
    return file;
  }

  /** Whether it came with the system: in a container there may be no folder to write to. */
  private static boolean isInstalled(Path file) throws IOException {
    if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
      return false;
    }
    Set<PosixFilePermission> actual =
        Files.getPosixFilePermissions(file, LinkOption.NOFOLLOW_LINKS);
    return !Files.isSymbolicLink(file)
        && Integer.valueOf(0)
            .equals(Files.getAttribute(file, "unix:uid", LinkOption.NOFOLLOW_LINKS))
        && !actual.contains(PosixFilePermission.GROUP_WRITE)
        && !actual.contains(PosixFilePermission.OTHERS_WRITE);
  }

  private static void createPrivate(Path folder) throws IOException {
    Set<PosixFilePermission> owner = PosixFilePermissions.fromString("rwx------");
    Files.createDirectories(folder, PosixFilePermissions.asFileAttribute(owner));
    Path probe = Files.createTempFile(folder, "owner", ".probe");
    try {
      Set<PosixFilePermission> actual =
          Files.getPosixFilePermissions(folder, LinkOption.NOFOLLOW_LINKS);
      if (!Files.getOwner(folder, LinkOption.NOFOLLOW_LINKS).equals(Files.getOwner(probe))
          || actual.contains(PosixFilePermission.GROUP_WRITE)
          || actual.contains(PosixFilePermission.OTHERS_WRITE)) {
        throw new IOException(folder + " belongs to, or is writable by, another user");
      }
    } finally {
      Files.delete(probe);
    }
  }

  private static boolean isWhole(Path file, byte[] library) throws IOException {
    return Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
        && Arrays.equals(Files.readAllBytes(file), library);
  }

  private static void move(Path from, Path to) throws IOException {
    try {
      Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
    } catch (AtomicMoveNotSupportedException e) {
      throw new IOException("files cannot be renamed in " + to.getParent(), e);
    }
  }

  private static String sha256(byte[] bytes) {
    try {
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(bytes);
      return HexFormat.of().formatHex(hash, 0, 16);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
