package dev.ashlar.metadata.consensus.checkpoint;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessMode;
import java.nio.file.CopyOption;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.StandardOpenOption;
import java.nio.file.WatchService;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.nio.file.spi.FileSystemProvider;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/** The default file system, of which every change from a given one on fails as in a crash. */
final class CrashingFiles extends FileSystemProvider {
  private final FileSystem system = new Wrapped();
  private int changesLeft;

  /** The end of the process. */
  static final class CrashError extends Error {
    private static final long serialVersionUID = 1;
  }

  /**
   * @param changes that come to pass
   */
  CrashingFiles(int changes) {
    this.changesLeft = changes;
  }

  private void change() {
    if (changesLeft-- <= 0) {
      throw new CrashError();
    }
  }

  /** The same file through this file system. */
  Path wrap(Path path) {
    return (Path)
        Proxy.newProxyInstance(
            Wrapper.class.getClassLoader(),
            new Class<?>[] {Wrapper.class},
            (proxy, method, args) -> {
              if (method.getName().equals("unwrapped")) {
                return path;
              }
              if (method.getName().equals("getFileSystem")) {
                return system;
              }
              try {
                Object[] plain =
                    args == null
                        ? null
                        : Arrays.stream(args)
                            .map(arg -> arg instanceof Wrapper other ? other.unwrapped() : arg)
                            .toArray();
                Object result = method.invoke(path, plain);
                return result instanceof Path other ? wrap(other) : result;
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  /** A path of this file system. */
  interface Wrapper extends Path {
    Path unwrapped();
  }

  private static Path plain(Path path) {
    return path instanceof Wrapper wrapper ? wrapper.unwrapped() : path;
  }

  private static FileSystemProvider provider(Path path) {
    return plain(path).getFileSystem().provider();
  }

  @Override
  public FileChannel newFileChannel(
      Path path, Set<? extends OpenOption> options, FileAttribute<?>... attrs) throws IOException {
    if (options.contains(StandardOpenOption.WRITE)) {
      change();
    }
    return provider(path).newFileChannel(plain(path), options, attrs);
  }

  @Override
  public SeekableByteChannel newByteChannel(
      Path path, Set<? extends OpenOption> options, FileAttribute<?>... attrs) throws IOException {
    if (options.contains(StandardOpenOption.WRITE)) {
      change();
    }
    return provider(path).newByteChannel(plain(path), options, attrs);
  }

  @Override
  public DirectoryStream<Path> newDirectoryStream(
      Path dir, DirectoryStream.Filter<? super Path> filter) throws IOException {
    DirectoryStream<Path> entries = provider(dir).newDirectoryStream(plain(dir), filter);
    return new DirectoryStream<>() {
      @Override
      public Iterator<Path> iterator() {
        return StreamSupport.stream(entries.spliterator(), false)
            .map(CrashingFiles.this::wrap)
            .iterator();
      }

      @Override
      public void close() throws IOException {
        entries.close();
      }
    };
  }

  @Override
  public void createDirectory(Path dir, FileAttribute<?>... attrs) throws IOException {
    change();
    provider(dir).createDirectory(plain(dir), attrs);
  }

  @Override
  public void createLink(Path link, Path existing) throws IOException {
    change();
    provider(link).createLink(plain(link), plain(existing));
  }

  @Override
  public void delete(Path path) throws IOException {
    change();
    provider(path).delete(plain(path));
  }

  @Override
  public void copy(Path source, Path target, CopyOption... options) throws IOException {
    change();
    provider(source).copy(plain(source), plain(target), options);
  }

  @Override
  public void move(Path source, Path target, CopyOption... options) throws IOException {
    change();
    provider(source).move(plain(source), plain(target), options);
  }

  @Override
  public boolean isSameFile(Path path, Path other) throws IOException {
    return provider(path).isSameFile(plain(path), plain(other));
  }

  @Override
  public boolean isHidden(Path path) throws IOException {
    return provider(path).isHidden(plain(path));
  }

  @Override
  public FileStore getFileStore(Path path) throws IOException {
    return provider(path).getFileStore(plain(path));
  }

  @Override
  public void checkAccess(Path path, AccessMode... modes) throws IOException {
    provider(path).checkAccess(plain(path), modes);
  }

  @Override
  public <V extends FileAttributeView> @Nullable V getFileAttributeView(
      Path path, Class<V> type, LinkOption... options) {
    return provider(path).getFileAttributeView(plain(path), type, options);
  }

  @Override
  public <A extends BasicFileAttributes> A readAttributes(
      Path path, Class<A> type, LinkOption... options) throws IOException {
    return provider(path).readAttributes(plain(path), type, options);
  }

  @Override
  public Map<String, Object> readAttributes(Path path, String attributes, LinkOption... options)
      throws IOException {
    return provider(path).readAttributes(plain(path), attributes, options);
  }

  @Override
  public void setAttribute(Path path, String attribute, Object value, LinkOption... options)
      throws IOException {
    change();
    provider(path).setAttribute(plain(path), attribute, value, options);
  }

  @Override
  public String getScheme() {
    return "crashing";
  }

  @Override
  public FileSystem newFileSystem(URI uri, Map<String, ?> env) {
    throw new UnsupportedOperationException();
  }

  @Override
  public FileSystem getFileSystem(URI uri) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Path getPath(URI uri) {
    throw new UnsupportedOperationException();
  }

  /** Only its provider is asked for. */
  private final class Wrapped extends FileSystem {
    @Override
    public FileSystemProvider provider() {
      return CrashingFiles.this;
    }

    @Override
    public void close() {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean isOpen() {
      return true;
    }

    @Override
    public boolean isReadOnly() {
      return false;
    }

    @Override
    public String getSeparator() {
      return "/";
    }

    @Override
    public Iterable<Path> getRootDirectories() {
      throw new UnsupportedOperationException();
    }

    @Override
    public Iterable<FileStore> getFileStores() {
      throw new UnsupportedOperationException();
    }

    @Override
    public Set<String> supportedFileAttributeViews() {
      return Set.of("basic");
    }

    @Override
    public Path getPath(String first, String... more) {
      throw new UnsupportedOperationException();
    }

    @Override
    public PathMatcher getPathMatcher(String syntaxAndPattern) {
      throw new UnsupportedOperationException();
    }

    @Override
    public UserPrincipalLookupService getUserPrincipalLookupService() {
      throw new UnsupportedOperationException();
    }

    @Override
    public WatchService newWatchService() {
      throw new UnsupportedOperationException();
    }
  }
}
