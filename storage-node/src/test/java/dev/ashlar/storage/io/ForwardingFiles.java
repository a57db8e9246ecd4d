package dev.ashlar.storage.io;

import java.io.IOException;
import java.util.List;

/** Files that do what those below them do, but for what a subclass changes. */
public abstract class ForwardingFiles implements RawFiles {
  private final RawFiles files;

  protected ForwardingFiles(RawFiles files) {
    this.files = files;
  }

  /** What stands between the user and a file that was made or opened. */
  protected abstract RawFile wrap(String name, RawFile file);

  @Override
  public RawFile create(String name, long size) throws IOException {
    return wrap(name, files.create(name, size));
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
}
