package dev.ashlar.importer;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.http.ContentStreamProvider;

/** A body that comes from the source while it is sent, and again for each further try. */
final class Body implements ContentStreamProvider, AutoCloseable {
  private final Supplier<? extends InputStream> source;
  private final LongConsumer progress;
  private @Nullable InputStream first;
  private @Nullable Counted current;

  /**
   * @param first the source, opened already; null: it is opened when it is needed
   * @param progress is told how many bytes more, or fewer before a further try, have been read
   */
  Body(@Nullable InputStream first, Supplier<? extends InputStream> source, LongConsumer progress) {
    this.first = first;
    this.source = source;
    this.progress = progress;
  }

  @Override
  public InputStream newStream() {
    try {
      if (current != null) {
        progress.accept(-current.count);
        current.close();
      }
      InputStream next = first == null ? source.get() : first;
      first = null;
      current = new Counted(next, progress);
      return current;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Of what the last try has read, in hexadecimal digits. */
  String md5() {
    return current == null ? "" : HexFormat.of().formatHex(current.md5.digest());
  }

  /** What was read counts no longer. */
  void discard() {
    if (current != null) {
      progress.accept(-current.count);
      current.count = 0;
    }
  }

  @Override
  public void close() throws IOException {
    if (current != null) {
      current.close();
    }
    if (first != null) {
      first.close();
    }
  }

  private static final class Counted extends FilterInputStream {
    private final MessageDigest md5 = Digests.md5();
    private final LongConsumer progress;
    private long count;

    Counted(InputStream in, LongConsumer progress) {
      super(in);
      this.progress = progress;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
      int read = super.read(into, offset, length);
      if (read > 0) {
        md5.update(into, offset, read);
        count += read;
        progress.accept(read);
      }
      return read;
    }

    @Override
    public boolean markSupported() {
      return false;
    }
  }
}
