package dev.ashlar.storage.io;

import java.io.IOException;
import java.util.List;

/** Delegates to other files; subclasses change what they need to. */
public abstract class ForwardingFiles implements RawFiles {
  private final RawFiles files;

  protected ForwardingFiles(RawFiles files) {
    this.files = files;
  }

  /** Wraps each file that is created or opened. */
  protected RawFile wrap(String name, RawFile file) {
    return file;
  }

  @Override
  public RawFile create(String name, long size) throws IOException {
    return wrap(name, files.create(name, size));
  }

  @Override
  public boolean allocate(String name, long size) throws IOException {
    return files.allocate(name, size);
  }

  @Override
  public RawFile open(String name) throws IOException {
    return wrap(name, files.open(name));
  }

  @Override
  public long size(String name) throws IOException {
    return files.size(name);
  }

  @Override
  public List<String> list() throws IOException {
    return files.list();
  }

  @Override
  public void rename(String from, String to) throws IOException {
    files.rename(from, to);
  }

  @Override
  public void delete(String name) throws IOException {
    files.delete(name);
  }

  @Override
  public void syncDirectory() throws IOException {
    files.syncDirectory();
  }

  @Override
  public long usableBytes() throws IOException {
    return files.usableBytes();
  }

  @Override
  public String toString() {
    return files.toString();
  }
}
