package dev.ashlar.gateway.audit;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Where the lines of the audit log go. Used by one thread. */
interface AuditOutput extends AutoCloseable {
  /**
   * Appends lines.
   *
   * @throws IOException if some of them may not have been written
   */
  void write(byte[] lines) throws IOException;

  @Override
  void close() throws IOException;

  /** The standard output of the process. */
  static AuditOutput ofStdout() {
    OutputStream out = new FileOutputStream(FileDescriptor.out);
    return new AuditOutput() {
      @Override
      public void write(byte[] lines) throws IOException {
        out.write(lines);
      }

      @Override
      public void close() {}
    };
  }

  /**
   * A file, made if there is none. Whenever it is moved away or deleted, a new one is begun.
   *
   * @throws IOException when it cannot be opened
   */
  static AuditOutput ofFile(Path path) throws IOException {
    return new AppendedFile(path);
  }

  /** A file under a name. */
  final class AppendedFile implements AuditOutput {
    private static final Set<PosixFilePermission> MODE =
        PosixFilePermissions.fromString("rw-r-----");

    private final Path path;
    private @Nullable OutputStream out;

    /** What tells files apart, whatever their names are. */
    private @Nullable Object identity;

    private AppendedFile(Path path) throws IOException {
      this.path = path;
      out = open();
    }

    @Override
    public void write(byte[] lines) throws IOException {
      try {
        current().write(lines);
      } catch (IOException e) {
        // A line may be torn: opening the file again ends it.
        close();
        throw e;
      }
    }

    private OutputStream current() throws IOException {
      OutputStream open = out;
      if (open != null && isStillNamed()) {
        return open;
      }
      close();
      out = open();
      return out;
    }

    private boolean isStillNamed() {
      try {
        return identity(path).equals(identity);
      } catch (IOException e) {
        return false;
      }
    }

    private static Object identity(Path path) throws IOException {
      Object key = Files.readAttributes(path, BasicFileAttributes.class).fileKey();
      return key == null ? path : key;
    }

    private OutputStream open() throws IOException {
      try {
        Files.createFile(path, PosixFilePermissions.asFileAttribute(MODE));
        permit(path);
      } catch (FileAlreadyExistsException e) {
        // It is continued.
      }
      OutputStream opened = new FileOutputStream(path.toFile(), true);
      try {
        identity = identity(path);
        if (endsInsideLine(path)) {
          opened.write('\n');
        }
        return opened;
      } catch (IOException e) {
        opened.close();
        throw e;
      }
    }

    /** Whatever the mask of the process is: collectors read the file by its group. */
    private static void permit(Path path) throws IOException {
      PosixFileAttributeView view = Files.getFileAttributeView(path, PosixFileAttributeView.class);
      if (view != null) {
        view.setPermissions(MODE);
      }
    }

    private static boolean endsInsideLine(Path path) throws IOException {
      if (!Files.isRegularFile(path)) {
        return false;
      }
      try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "r")) {
        long length = file.length();
        if (length == 0) {
          return false;
        }
        file.seek(length - 1);
        return file.read() != '\n';
      }
    }

    @Override
    public void close() throws IOException {
      OutputStream open = out;
      out = null;
      if (open != null) {
        open.close();
      }
    }
  }
}
