package dev.ashlar.storage.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/** A file that does what the one below it does, but for what a subclass changes. */
public abstract class ForwardingFile implements RawFile {
  private final RawFile file;

  protected ForwardingFile(RawFile file) {
    this.file = file;
  }

  @Override
  public void write(List<ByteBuffer> buffers, long position) throws IOException {
    file.write(buffers, position);
  }

  @Override
  public void read(ByteBuffer target, long position) throws IOException {
    file.read(target, position);
  }

  @Override
  public void sync() throws IOException {
    file.sync();
  }

  @Override
  public long size() throws IOException {
    return file.size();
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
