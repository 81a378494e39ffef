const OPENING = /^([ \t]*)(test\.describe|describe|test|it)(?:(\.each|\.for)(?:<[\s\S]*?>(?=\())?)?\(/gm;
const TITLE = /\s*(['"`])((?:\\.|(?!\1)[^\\\n])*)\1,/y;
const TITLE_AFTER_TABLE = /\)\(\s*(['"`])((?:\\.|(?!\1)[^\\\n])*)\1,/g;

interface Block {
  indent: string;
  title: string;
  start: number;
}

/**
 * The titles of a test file as they are written, each as 'describe › test'. What is inside of what is told by the
 * indentation: the formatter keeps it.
 */
export function readTestTitles(source: string): string[] {
  const titles: string[] = [];
  const describes: Block[] = [];
  for (const match of source.matchAll(OPENING)) {
    const [opening, indent = '', kind = '', table] = match;
    const pattern = new RegExp(table ? TITLE_AFTER_TABLE : TITLE);
    pattern.lastIndex = match.index + opening.length;
    const [, quote = '', written] = pattern.exec(source) ?? [];
    if (written === undefined) continue;
    const title = written.replaceAll(`\\${quote}`, quote);
    while (describes.length > 0 && hasEnded(describes.at(-1), { source, at: match.index })) describes.pop();
    if (kind.endsWith('describe')) describes.push({ indent, title, start: match.index });
    else titles.push([...describes.map((block) => block.title), title].join(' › '));
  }
  return titles;
}

function hasEnded(block: Block | undefined, options: { source: string; at: number }): boolean {
  return block ? options.source.slice(block.start, options.at).includes(`\n${block.indent}}`) : true;
}
