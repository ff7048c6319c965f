#!/usr/bin/env node
'use strict';
// Notes in a file, one on each line.
const fs = require('fs');

const LIMIT = 3;

class Notes {
    constructor(path) {
        this.path = path;
    }

    all() {
        if (!fs.existsSync(this.path)) return [];
        return fs.readFileSync(this.path, 'utf8').split('\n').filter((line) => line.trim() !== '');
    }

    add(text) {
        'use strict';
        if (this.all().length >= LIMIT && !process.env.NO_LIMIT) {
            throw new Error(`no room for ${text}`);
        }
        fs.appendFileSync(
            this.path,
            text + '\n',
        );
        return this.all().length;
    }
}

// With its number.
const numbered = (note, index) => `${index + 1}: ${note}`;

const loud = function (text) {
    return text === '' ? '' : text.toUpperCase() + '!';
};

function main(args) {
    const notes = new Notes(args[0]);
    if (args[1] === 'add') {
        console.log(String(notes.add(args[2])));
    } else if (args[1] === 'loud') {
        process.stdout.write(loud(args[2]) + '\n');
    } else {
        for (let i = 0; i < notes.all().length; i++) {
            process.stdout.write(numbered(notes.all()[i], i) + '\n');
        }
    }
    return 0;
}

process.exitCode = main(process.argv.slice(2));
module.exports = { Notes, numbered };
