// Names and paths as they fit a row; the whole name is in the title and on the function's page.

/** The end of a path. */
export function fileName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1) || path;
}

/** What all these paths begin with, up to a slash. */
export function commonFolder(paths: string[]): string {
  const absolute = paths.filter((path) => path.startsWith("/"));
  if (absolute.length < 2) return "";
  let common = absolute[0]!.slice(0, absolute[0]!.lastIndexOf("/") + 1);
  for (const path of absolute) {
    while (!path.startsWith(common)) common = common.slice(0, common.lastIndexOf("/", common.length - 2) + 1);
  }
  return common.length > 1 ? common : "";
}

/** A long name with its middle left out. */
export function clip(name: string, length = 160): string {
  if (name.length <= length) return name;
  const tail = Math.floor(length / 3);
  return `${name.slice(0, length - tail - 1)}…${name.slice(-tail)}`;
}

/** A path that a program or file is known by: from a registry or toolchain, without what leads there. */
export function nearPath(path: string, root: string): string {
  const known = /^.*\/(?:registry\/src\/[^/]+|lib\/rustlib\/src\/rust\/library|rustc\/[0-9a-f]{40}\/library)\/(.+)$/.exec(path);
  if (known) return known[1]!;
  return root && path.startsWith(root) ? path.slice(root.length) : path;
}
